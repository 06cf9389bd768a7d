/** The health of the site, for those who may see it. */

import { signal } from "@preact/signals";
import { api } from "../api";
import type { Finding } from "../api/description";
import { Failure } from "../api/failure";

/** Null as long as nobody has asked, and for those who may not know. */
export const findings = signal<Finding[] | null>(null);

export async function loadFindings(): Promise<void> {
  const { http, description } = api();
  if (description.site.health === false) return;
  const refused = `console.health.refused.${http.boot.user}.${description.version}`;
  // What was refused once in a visit is not asked for again.
  if (sessionStorage.getItem(refused) !== null) return;
  try {
    const { data } = await http.request<Finding[] | { findings: Finding[] }>("/console/v1/health");
    findings.value = Array.isArray(data) ? data : data.findings;
  } catch (error) {
    // Without an answer there is no section about it.
    findings.value = null;
    if (error instanceof Failure && error.forbidden) sessionStorage.setItem(refused, "");
  }
}
