/** What is declared, read only: names as a tree, each with its file and line, and what the last reload complained about. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { api } from "../api";
import type { Declaration } from "../api/description";
import { isObject } from "../api/failure";
import { t } from "../i18n";
import { type Branch, branches, matching } from "../model/declarations";
import { Page } from "../shell/page";
import { Failed, Icon, LinkButton, Skeleton } from "../ui";
import { useLoad } from "../ui/hooks";

interface Declared {
  declarations: Declaration[];
  problems: string[];
}

export function DeclarationsScreen(): JSX.Element {
  const { http } = api();
  const [wanted, setWanted] = useState("");
  const loaded = useLoad(async (signal) => declaredOf((await http.request("/console/v1/declarations", { signal })).data), [http]);
  const shown = useMemo(() => branches(matching(loaded.data?.declarations ?? [], wanted)), [loaded.data, wanted]);
  const explorer = http.boot.explorer_url;
  return (
    <Page
      title={t("shell.declarations")}
      width="narrow"
      actions={
        explorer === null ? undefined : (
          <LinkButton href={explorer} target="_blank" rel="noopener" icon="external">
            {t("dashboard.to_explorer")}
          </LinkButton>
        )
      }
    >
      <p class="soft">{t("dashboard.declarations_text")}</p>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data === undefined && loaded.error === null && <Skeleton />}
      {loaded.data !== undefined && (
        <>
          <Problems problems={loaded.data.problems} />
          <input
            type="search"
            class="input"
            aria-label={t("dashboard.declarations_filter")}
            placeholder={t("dashboard.declarations_filter")}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
          <p class="soft" role="status">
            {t("dashboard.declared", { count: matching(loaded.data.declarations, wanted).length })}
          </p>
          <Branches list={shown} open={wanted !== ""} />
        </>
      )}
    </Page>
  );
}

function declaredOf(data: unknown): Declared {
  if (Array.isArray(data)) return { declarations: data as Declaration[], problems: [] };
  if (!isObject(data)) return { declarations: [], problems: [] };
  const problems = Array.isArray(data["problems"]) ? data["problems"] : [];
  return {
    declarations: Array.isArray(data["declarations"]) ? (data["declarations"] as Declaration[]) : [],
    problems: problems.map((problem) => (isObject(problem) ? String(problem["message"] ?? JSON.stringify(problem)) : String(problem))),
  };
}

function Problems({ problems }: { problems: string[] }): JSX.Element {
  if (problems.length === 0) {
    return (
      <p class="row">
        <Icon name="check" />
        {t("dashboard.no_problems")}
      </p>
    );
  }
  return (
    <section class="notice notice-bad" aria-labelledby="problems">
      <h2 id="problems">{t("dashboard.problems")}</h2>
      {problems.map((problem) => (
        <pre key={problem}>{problem}</pre>
      ))}
    </section>
  );
}

function Branches({ list, open }: { list: Branch[]; open: boolean }): JSX.Element {
  return (
    <ul class="branches">
      {list.map((branch) => (
        <li key={branch.name}>
          {branch.children.length === 0 ? (
            <Name branch={branch} />
          ) : (
            <details open={open}>
              <summary>
                <Name branch={branch} />
              </summary>
              <Branches list={branch.children} open={open} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

function Name({ branch }: { branch: Branch }): JSX.Element {
  return (
    <span class="branch">
      <code>{branch.name}</code>
      {branch.declaration !== null && (
        <span class="soft">
          {branch.declaration.file}, {t("dashboard.line", { line: String(branch.declaration.line) })}
        </span>
      )}
    </span>
  );
}
