/** The way through the pages of a list. */

import type { JSX } from "preact";
import { t } from "../i18n";
import { Button } from "./button";

interface PaginationProps {
  page: number;
  /** Null where nobody has counted. */
  pages: number | null;
  more: boolean;
  onPage: (page: number) => void;
}

export function Pagination({ page, pages, more, onPage }: PaginationProps): JSX.Element | null {
  if (page === 1 && !more && (pages === null || pages <= 1)) return null;
  const text = pages === null ? t("ui.page", { page }) : t("ui.page_of", { page, pages });
  return (
    <nav class="pagination" aria-label={t("ui.pages")}>
      {page > 2 && <Button kind="quiet" onClick={() => onPage(1)}>{t("ui.first_page")}</Button>}
      <Button kind="quiet" icon="chevron-left" label={t("ui.previous_page")} disabled={page <= 1} onClick={() => onPage(page - 1)} />
      <span class="pagination-here" aria-current="page">
        {text}
      </span>
      <Button kind="quiet" icon="chevron-right" label={t("ui.next_page")} disabled={!more} onClick={() => onPage(page + 1)} />
      {pages !== null && page < pages - 1 && <Button kind="quiet" onClick={() => onPage(pages)}>{t("ui.last_page")}</Button>}
    </nav>
  );
}
