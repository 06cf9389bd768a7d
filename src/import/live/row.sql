INSERT INTO `wp_{table}` ({columns}) VALUES ({values});
