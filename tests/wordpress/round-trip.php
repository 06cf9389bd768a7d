<?php
// The part of round-trip that runs inside WordPress: `import PLUGIN FILE` with WordPress's importer, pictures included, and
// `export PLUGIN FILE`, which prints the site as WordPress exports it. FILE names the types and taxonomies of plugins in both.
// WordPress uses names of variables of its own.
[, $c, $p, $f] = $argv;
define('TRIP_COMMAND', $c);
define('TRIP_PLUGIN', $p);
define('TRIP_FILE', $f);
$_SERVER['WORDPRESS_CONFIG'] = getenv('WORDPRESS_CONFIG');
$_SERVER['HTTP_HOST'] = getenv('WORDPRESS_HOST');
define('WP_LOAD_IMPORTERS', true);
define('WP_ADMIN', true);
require (getenv('WORDPRESS_ROOT') ?: '/usr/share/wordpress') . '/wp-load.php';
foreach (['import', 'export', 'post', 'taxonomy', 'image', 'file', 'media', 'misc', 'user', 'comment'] as $part) {
    require_once ABSPATH . "wp-admin/includes/$part.php";
}
wp_set_current_user(1);

$text = file_get_contents(TRIP_FILE);
preg_match_all('~<wp:post_type>(?:<!\[CDATA\[)?([^<\]]+)~', $text, $types);
foreach (array_unique($types[1]) as $type) {
    // An author each, so that the import keeps them.
    if (!post_type_exists($type)) register_post_type($type, ['public' => true, 'hierarchical' => true, 'can_export' => true, 'supports' => ['author', 'comments']]);
}
preg_match_all('~<category domain="([^"]+)"|<wp:term_taxonomy>(?:<!\[CDATA\[)?([^<\]]+)~', $text, $taxonomies);
foreach (array_unique(array_filter(array_merge($taxonomies[1], $taxonomies[2]))) as $taxonomy) {
    if (!taxonomy_exists($taxonomy)) register_taxonomy($taxonomy, get_post_types(), ['hierarchical' => true]);
}
if (TRIP_COMMAND === 'export') {
    export_wp(['content' => 'all']);
    exit;
}
foreach (get_posts(['post_type' => array_values(get_post_types()), 'post_status' => 'any', 'numberposts' => -1, 'fields' => 'ids']) as $sample) wp_delete_post($sample, true);
// Files of another site, whose names would be taken.
$uploads = wp_upload_dir()['basedir'];
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($uploads, FilesystemIterator::SKIP_DOTS)) as $old) unlink($old);
// The site that the files come from is on this machine, on a port of its own.
add_filter('http_request_host_is_external', '__return_true');
add_filter('http_allowed_safe_ports', fn($ports, $host, $url) => [...$ports, parse_url($url, PHP_URL_PORT)], 10, 3);
require TRIP_PLUGIN . '/wordpress-importer.php';
wordpress_importer_init();
$import = new WP_Import();
$import->fetch_attachments = true;
foreach (array_values($import->parse(TRIP_FILE)['authors']) as $place => $author) {
    $_POST['imported_authors'][$place] = $author['author_login'];
    $_POST['user_map'][$place] = username_exists($author['author_login']) ?: 0;
}
$import->import(TRIP_FILE);
