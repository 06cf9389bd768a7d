/** The frame around every screen. */

import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { api } from "../api";
import { queues } from "../files/uploads";
import { language, t } from "../i18n";
import { offsetAt } from "../model/moments";
import { href, place, places } from "../router";
import { Screen } from "../screens/table";
import { Announcements, Button, Questions, Toasts } from "../ui";
import { Boundary } from "./boundary";
import { whenIdle } from "../ui/hooks";
import { loadFindings } from "./insight";
import { Navigation } from "./navigation";
import { lazy } from "./lazy";
import { paletteOpen } from "./palette-state";
import { applyLook } from "./preferences";
import { SessionEnded, Unreachable } from "./session";
import { helpOpen, keyNames, ShortcutHelp, startShortcuts, useShortcuts } from "./shortcuts";
import { UserMenu } from "./usermenu";

const UploadPanel = lazy(async () => (await import("../files/upload-panel")).UploadPanel);
const Palette = lazy(async () => (await import("./palette")).Palette);
const navOpen = signal(false);

/** What runs beside the components, once. */
export function startShell(): void {
  effect(applyLook);
  startShortcuts();
  // What the first screen asks for comes before.
  whenIdle(() => void loadFindings());
}

export function App(): JSX.Element {
  useShortcuts([
    { keys: "mod+k", label: t("shell.palette"), run: () => (paletteOpen.value = true) },
    { keys: "?", label: t("shell.shortcuts"), run: () => (helpOpen.value = true) },
  ]);
  useEffect(() => {
    const escape = (event: KeyboardEvent): void => {
      if (event.key === "Escape") navOpen.value = false;
    };
    addEventListener("keydown", escape);
    return () => removeEventListener("keydown", escape);
  }, []);
  // Another language renders everything again.
  return (
    <div class="app" key={language.value}>
      <SkipLink />
      <Sidebar />
      <div class="app-body">
        <Topbar />
        <Unreachable />
        <main id="main" class="main" tabIndex={-1}>
          <Boundary key={place.value.path}>
            <Screen />
          </Boundary>
        </main>
      </div>
      {paletteOpen.value && <Palette />}
      {queues.value.length > 0 && <UploadPanel />}
      <ShortcutHelp />
      <Questions />
      <SessionEnded />
      <Toasts />
      <Announcements />
    </div>
  );
}

/** Addresses are relative to the console's, so that "#main" alone would lead to its first screen. */
function SkipLink(): JSX.Element {
  const { path, search } = place.value;
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  return (
    <a class="skip" href={`${href(path)}${search === "" ? "" : `?${search}`}#main`} onClick={skip}>
      {t("shell.skip")}
    </a>
  );
}

function Sidebar(): JSX.Element {
  const close = (): void => {
    navOpen.value = false;
  };
  return (
    <>
      <header class="sidebar" id="navigation" data-open={navOpen.value}>
        <div class="sidebar-head">
          <a class="site-name" href={href(places.dashboard())} onClick={close}>
            {api().description.site.title}
          </a>
          <span class="only-narrow">
            <Button kind="quiet" icon="close" label={t("shell.close_navigation")} onClick={close} />
          </span>
        </div>
        <SearchButton />
        <Navigation onFollow={close} />
        <div class="sidebar-foot">
          <SiteClock />
          <UserMenu />
        </div>
      </header>
      {navOpen.value && <div class="veil only-narrow" onClick={close} />}
    </>
  );
}

/** Every time is that of the site's clock: it is said where the clock of the browser shows another one. */
function SiteClock(): JSX.Element | null {
  const zone = api().description.site.timezone;
  const now = new Date();
  if (offsetAt(now, zone) === -now.getTimezoneOffset() * 60_000) return null;
  return <p class="site-clock">{t("shell.site_clock", { zone })}</p>;
}

function SearchButton(): JSX.Element {
  return (
    <button type="button" class="button palette-button" onClick={() => (paletteOpen.value = true)}>
      <span>{t("shell.find")}</span>
      <span class="keys" aria-hidden="true">
        {keyNames("mod+k").map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </button>
  );
}

function Topbar(): JSX.Element {
  return (
    <section class="topbar only-narrow" aria-label={t("shell.topbar")}>
      <Button
        kind="quiet"
        icon="menu"
        label={t("shell.open_navigation")}
        aria-expanded={navOpen.value}
        aria-controls="navigation"
        onClick={() => {
          navOpen.value = true;
          requestAnimationFrame(() => document.querySelector<HTMLElement>("#navigation a")?.focus());
        }}
      />
      <a class="site-name" href={href(places.dashboard())}>
        {api().description.site.title}
      </a>
      <Button kind="quiet" icon="search" label={t("shell.palette")} onClick={() => (paletteOpen.value = true)} />
    </section>
  );
}
