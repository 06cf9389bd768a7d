// Markup and addresses that would run: nothing does, in any screen, and what is text is shown as text.
import { assert, open, settled } from "../steps.mjs";

export const site = { roles: ["administrator", "editor"] };

const NASTY = [
  "<img src=x onerror=\"window.ran='img'\">",
  "</script><script>window.ran='script'</script>",
  "\"><svg onload=window.ran='svg'>",
  "javascript:window.ran='address'",
];
const text = NASTY.join(" ");

const CONTENT = [
  "<!-- wp:paragraph -->",
  `<p>${NASTY.join(" ")}<a href="javascript:window.ran='link'">press</a> <a href=" java\tscript:window.ran='tab'">press</a></p>`,
  "<!-- /wp:paragraph -->",
  "<!-- wp:html -->",
  "<iframe srcdoc=\"<script>parent.ran='frame'</script>\"></iframe><object data=\"javascript:parent.ran='object'\"></object>",
  "<style>body{display:none}</style><form action=\"javascript:window.ran='form'\"><button>send</button></form>",
  "<!-- /wp:html -->",
  "<!-- wp:image {\"url\":\"javascript:window.ran='image'\"} -->",
  "<figure class=\"wp-block-image\"><img src=\"x\" onerror=\"window.ran='figure'\" alt=\"&quot; onload=window.ran='alt'\"/></figure>",
  "<!-- /wp:image -->",
  "<!-- wp:plugin/unknown {\"x\":\"</script><script>window.ran='attribute'</script>\"} /-->",
].join("\n");

/** What the pages ask for because it is in their contents; none of it is answered. */
const OWN = [/404 \(Not Found\)/, /net::ERR/];

async function planted(server) {
  const ask = (path, body) => server.ask("administrator", "POST", path, body).then(({ status, body: made }) => {
    assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(made)}`);
    return made;
  });
  const category = await ask("/cms/v2/categories", { name: text, description: text });
  const tag = await ask("/cms/v2/tags", { name: text });
  const user = await ask("/cms/v2/users", {
    username: "mallory", email: "mallory@example.com", password: "a long enough password", name: text, first_name: text, nickname: text,
    description: text, url: "https://example.com/?q=%22onclick=window.ran=1", roles: ["author"],
  });
  const post = await ask("/cms/v2/posts", {
    title: text, content: CONTENT, excerpt: text, status: "publish", categories: [category.id], tags: [tag.id], author: user.id,
    meta: { footnotes: text },
  });
  const again = await ask(`/cms/v2/posts/${post.id}`, { title: `${text} 2`, content: `${CONTENT}\n${text}` });
  const comment = await ask("/cms/v2/comments", {
    post: post.id, author_name: text, author_email: "mallory@example.com", author_url: "https://example.com/?q='onclick='window.ran=1", content: text,
  });
  await ask("/cms/v2/settings", { title: text, description: text });
  return { post: again.id, category: category.id, tag: tag.id, user: user.id, comment: comment.id };
}

async function nothingRan(page, where) {
  assert.equal(await page.evaluate(() => window.ran), undefined, `${where} ran something`);
  const dangerous = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], area[href], form[action], iframe[src], object[data], embed[src]")]
      .filter((one) => ["href", "action", "src", "data"].some((name) => /^[\s\u0000-\u001f]*j\s*a\s*v\s*a\s*s/i.test(one.getAttribute(name) ?? "")))
      .filter((one) => one.closest("[contenteditable='true']") === null)
      .map((one) => one.outerHTML));
  assert.deepEqual(dangerous, [], `${where} has addresses that run`);
  const scripts = await page.evaluate(() => [...document.querySelectorAll("script:not([src]):not([type='application/json'])")].length);
  assert.equal(scripts, 0, `${where} has scripts in it`);
}

export const walks = {
  async "hostile texts in every field are shown as text"({ server, meet }) {
    const ids = await planted(server);
    const ada = await meet({ expected: OWN });
    await ada.logIn("administrator");
    const { page } = ada;
    const paths = [
      "/", "/r/posts", `/r/posts/${ids.post}`, `/r/posts/${ids.post}/revisions`, "/r/categories", "/r/categories?layout=table", `/r/categories/${ids.category}`, `/r/tags/${ids.tag}`,
      "/r/users", `/r/users/${ids.user}`, "/r/comments", `/r/comments/${ids.comment}`, "/r/settings", "/r/audit",
    ];
    for (const path of paths) {
      await open(ada, path);
      await nothingRan(page, path);
    }
    await open(ada, "/r/posts");
    await page.getByRole("link", { name: /javascript:window\.ran='address'/ }).first().waitFor();
    // In lists of choices, in the palette and in questions.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find records, places and actions" }).fill("address");
    await page.getByRole("option", { name: /javascript:window\.ran/ }).first().waitFor();
    await nothingRan(page, "the palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Actions for/ }).first().click();
    await page.getByRole("menu").waitFor();
    await nothingRan(page, "the menu");
    await page.keyboard.press("Escape");
  },

  async "what an editor pastes does not run"({ server, meet }) {
    const erin = await meet({ expected: OWN });
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/r/posts/new");
    const writing = page.locator(".ProseMirror").first();
    await writing.click();
    await writing.evaluate((place, html) => {
      const data = new DataTransfer();
      data.setData("text/html", html);
      data.setData("text/plain", "plain");
      place.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, `<p>before</p>${CONTENT}<p>after</p>`);
    await page.getByText("after", { exact: true }).first().waitFor();
    await nothingRan(page, "the editor");
    const running = await writing.evaluate((place) =>
      [...place.querySelectorAll("*")].filter((one) => [...one.attributes].some(({ name, value }) => /^on/i.test(name) || /^\s*javascript:/i.test(value))).map((one) => one.outerHTML));
    assert.deepEqual(running, []);
    await settled(page);
  },
};
