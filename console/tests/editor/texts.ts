/** Random contents: markup whole and broken, and blocks of every kind as they are found in the wild. */
import fc from "fast-check";

const PARTS = [
  "<p>",
  "</p>",
  "<p class=\"a\">",
  "<strong>",
  "</strong>",
  "<b>",
  "</b>",
  "<em><strong>x</strong></em>",
  "<a href=\"x\" target=_blank>",
  "</a>",
  "<img src=\"a.png\" alt='x' />",
  "<br>",
  "<br />\n",
  "<ul>",
  "<li>",
  "</li>",
  "</ul>",
  "<ol start=\"3\"><li>a\n<ul><li>b</li></ul>\n</li></ol>",
  "<blockquote>",
  "</blockquote>",
  "<h2>H</h2>",
  "<pre>a\n b</pre>",
  "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>",
  "<hr />",
  "<!--more-->",
  "<!-- wp:paragraph -->\n",
  "\n<!-- /wp:paragraph -->",
  "<!-- wp:group --><div class=\"wp-block-group\">",
  "</div><!-- /wp:group -->",
  "<!-- wp:list --><ul><!-- wp:list-item --><li>",
  "</li><!-- /wp:list-item --></ul><!-- /wp:list -->",
  "<!-- wp:latest-posts /-->",
  "&amp;",
  "&nbsp;",
  "&#8217;",
  "&unknown;",
  "&",
  "<",
  ">",
  "\n",
  "\n\n",
  " ",
  "\t",
  "\r\n",
  "text",
  "<span>",
  "</span>",
  "<span></span>",
  "<script>alert(1)</script>",
  "<iframe src=x></iframe>",
  "[gallery]",
  "<!-- c -->",
  "<P>A</P>",
];

/** Any text, often with markup. */
export const texts = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...PARTS), { maxLength: 14 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

const inline = fc
  .array(
    fc.constantFrom(
      "word ",
      "<strong>bold</strong>",
      "<em>a <strong>b</strong></em>",
      "<b>b</b><b>c</b>",
      "<a href=\"https://example.org/?a=1&amp;b=2\" rel='x'>link <code>c</code></a>",
      "&nbsp;",
      "&#8217;",
      "a &amp; b",
      "<br>",
      "<img class=\"wp-image-1\" src=\"a.jpg\" alt=\"\"/>",
      "<mark style=\"background-color:#ff0\" class=\"has-inline-color\">m</mark>",
      "<sup><a href=\"#f\">1</a></sup>",
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(""));

const leaf = inline.chain((text) =>
  fc.constantFrom(
    `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`,
    `<!-- wp:paragraph {"align":"center","style":{"typography":{"fontSize":"20px"}}} -->\n<p class="has-text-align-center" style="font-size:20px">${text}</p>\n<!-- /wp:paragraph -->`,
    `<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading" id="x">${text}</h3>\n<!-- /wp:heading -->`,
    `<!-- wp:list {"ordered":true,"start":4} -->\n<ol start="4" class="wp-block-list"><!-- wp:list-item -->\n<li>${text}<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>in</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list --></li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li></li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list -->`,
    `<!-- wp:list -->\n<ul><li>${text}<ul><li>x</li></ul></li><li>y</li></ul>\n<!-- /wp:list -->`,
    `<!-- wp:quote -->\n<blockquote class="wp-block-quote"><p>${text}</p><cite>C</cite></blockquote>\n<!-- /wp:quote -->`,
    `<!-- wp:pullquote -->\n<figure class="wp-block-pullquote"><blockquote><p>${text}</p><cite>C</cite></blockquote></figure>\n<!-- /wp:pullquote -->`,
    `<!-- wp:code -->\n<pre class="wp-block-code"><code>a &lt; b\n  &#91;c] [d]</code></pre>\n<!-- /wp:code -->`,
    `<!-- wp:verse -->\n<pre class="wp-block-verse">${text}\n  x</pre>\n<!-- /wp:verse -->`,
    `<!-- wp:table {"hasFixedLayout":false} -->\n<figure class="wp-block-table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>${text}</td><td></td></tr><tr><td colspan="2">z</td></tr></tbody></table><figcaption class="wp-element-caption">${text}</figcaption></figure>\n<!-- /wp:table -->`,
    `<!-- wp:image {"id":7,"sizeSlug":"large","linkDestination":"custom"} -->\n<figure class="wp-block-image size-large"><a href="x"><img src="a.jpg" alt="A" class="wp-image-7"/></a><figcaption class="wp-element-caption">${text}</figcaption></figure>\n<!-- /wp:image -->`,
    `<!-- wp:gallery {"linkTo":"none"} -->\n<figure class="wp-block-gallery has-nested-images columns-default is-cropped"><!-- wp:image {"id":7} -->\n<figure class="wp-block-image"><img src="a.jpg" alt=""/></figure>\n<!-- /wp:image --><figcaption class="blocks-gallery-caption wp-element-caption">${text}</figcaption></figure>\n<!-- /wp:gallery -->`,
    `<!-- wp:embed {"url":"https://example.org/v","type":"video","providerNameSlug":"x"} -->\n<figure class="wp-block-embed is-type-video"><div class="wp-block-embed__wrapper">\nhttps://example.org/v\n</div></figure>\n<!-- /wp:embed -->`,
    `<!-- wp:buttons -->\n<div class="wp-block-buttons"><!-- wp:button -->\n<div class="wp-block-button"><a class="wp-block-button__link wp-element-button" href="x">${text}</a></div>\n<!-- /wp:button --></div>\n<!-- /wp:buttons -->`,
    `<!-- wp:cover {"url":"a.jpg","id":7,"dimRatio":30} -->\n<div class="wp-block-cover"><img class="wp-block-cover__image-background wp-image-7" alt="A" src="a.jpg" data-object-fit="cover"/><span aria-hidden="true" class="wp-block-cover__background has-background-dim-30 has-background-dim"></span><div class="wp-block-cover__inner-container"><!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph --></div></div>\n<!-- /wp:cover -->`,
    `<!-- wp:cover {"customOverlayColor":"#123","minHeight":300} -->\n<div class="wp-block-cover" style="min-height:300px"><span aria-hidden="true" class="wp-block-cover__background has-background-dim-100 has-background-dim" style="background-color:#123"></span><div class="wp-block-cover__inner-container"></div></div>\n<!-- /wp:cover -->`,
    `<!-- wp:media-text {"mediaPosition":"right","mediaId":7,"mediaType":"image","mediaWidth":30} -->\n<div class="wp-block-media-text has-media-on-the-right is-stacked-on-mobile" style="grid-template-columns:auto 30%"><div class="wp-block-media-text__content"><!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph --></div><figure class="wp-block-media-text__media"><img src="a.jpg" alt="" class="wp-image-7 size-full"/></figure></div>\n<!-- /wp:media-text -->`,
    `<!-- wp:media-text -->\n<div class="wp-block-media-text is-stacked-on-mobile"><figure class="wp-block-media-text__media"></figure><div class="wp-block-media-text__content"><div></div></div></div>\n<!-- /wp:media-text -->`,
    `<!-- wp:details {"showContent":true} -->\n<details class="wp-block-details" open><summary>${text}</summary><!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->`,
    `<!-- wp:details -->\n<details class="wp-block-details">\n<summary></summary></details>\n<!-- /wp:details -->`,
    `<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->`,
    `<!-- wp:block {"ref":12} /-->`,
    `<!-- wp:html -->\n<div onclick="x()">${text}</div>\n<!-- /wp:html -->`,
    `<!-- wp:my/own {"a":{"b":[1,2]}} -->\n<div>${text}</div>\n<!-- /wp:my/own -->`,
    `<!-- wp:latest-posts /-->`,
    `<!-- cms:paragraph --><p>${text}</p><!-- /cms:paragraph -->`,
    `<p>${text}</p>`,
    `<h2>${text}</h2>`,
  ),
);

const separators = fc.constantFrom("\n\n", "\n\n", "\n", "", "\r\n\r\n", "\n \n");

const { node } = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc
      .array(tie("node"), { maxLength: 3 })
      .map((nodes) => `<!-- wp:group {"layout":{"type":"constrained"}} -->\n<div class="wp-block-group">${nodes.join("\n\n")}</div>\n<!-- /wp:group -->`),
    fc
      .array(tie("node"), { minLength: 1, maxLength: 3 })
      .map((nodes) => `<!-- wp:quote -->\n<blockquote class="wp-block-quote">${nodes.join("\n\n")}<cite>by</cite></blockquote>\n<!-- /wp:quote -->`),
    fc
      .array(fc.array(tie("node"), { maxLength: 2 }), { minLength: 1, maxLength: 3 })
      .map(
        (columns) =>
          `<!-- wp:columns -->\n<div class="wp-block-columns">${columns
            .map((nodes) => `<!-- wp:column {"width":"33%"} -->\n<div class="wp-block-column" style="flex-basis:33%">${nodes.join("\n\n")}</div>\n<!-- /wp:column -->`)
            .join("\n\n")}</div>\n<!-- /wp:columns -->`,
      ),
  ),
}));

/** Content made of blocks. */
export const markups = fc
  .array(fc.tuple(node, separators), { minLength: 1, maxLength: 6 })
  .map((nodes) => nodes.map(([text, between]) => text + between).join(""));
