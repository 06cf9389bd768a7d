import { render } from "preact";
import { startApi } from "./api";
import { readBoot } from "./api/boot";
import { createHttp } from "./api/http";
import { preferredLanguage, useLanguage } from "./i18n";
import { startRouter } from "./router";
import { App, startShell } from "./shell/app";
import { Failed, Loading } from "./ui";
import "./styles/index.css";

const root = document.getElementById("console");

async function start(place: HTMLElement): Promise<void> {
  const boot = readBoot(document);
  render(<Loading />, place);
  try {
    await Promise.all([startApi(createHttp(boot), sessionStorage, preferredLanguage()), useLanguage()]);
    startRouter(boot.path);
    startShell();
    render(<App />, place);
  } catch (error) {
    render(<Failed error={error} onRetry={() => void start(place)} />, place);
  }
}

if (root !== null) void start(root);
