export default { skipTrailingSlashRedirect: true };
