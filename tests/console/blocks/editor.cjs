// WordPress's own editor in Node: its functions of `@wordpress/blocks` out of NODE_MODULES, and what it has said.
const { createRequire } = require("node:module");
const { resolve } = require("node:path");

module.exports = function editor(modules) {
  const load = createRequire(`${resolve(modules)}/`);
  const { JSDOM } = load("jsdom");
  const { window } = new JSDOM("<!doctype html><html><body></body></html>", { pretendToBeVisual: true, url: "http://localhost/" });
  class Observer {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  const quiet = () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {} });
  const own = { matchMedia: quiet, ResizeObserver: Observer, IntersectionObserver: Observer, CSS: { supports: () => false, escape: (text) => text } };
  Object.assign(window, own);
  for (const name of ["document", "navigator", "Node", "Element", "HTMLElement", "DOMParser", "MutationObserver", "CustomEvent", "DocumentFragment", "getComputedStyle"]) {
    Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
  }
  Object.assign(globalThis, own, { window, requestAnimationFrame: (run) => setTimeout(run, 0), cancelAnimationFrame: clearTimeout });

  // The editor says on the console what it finds wrong and what it mends.
  const said = [];
  for (const level of ["log", "info", "warn", "error", "group", "groupCollapsed"]) console[level] = (...words) => said.push(words.join(" "));
  const { createBlock, getBlockType, getBlockTypes, parse, serialize } = load("@wordpress/blocks");
  const { registerCoreBlocks } = load("@wordpress/block-library");
  registerCoreBlocks();
  return { createBlock, getBlockType, getBlockTypes, parse, serialize, said };
};
