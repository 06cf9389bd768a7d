/** The health of the site, for those who may see it. */

import { signal } from "@preact/signals";
import { api } from "../api";
import type { Finding } from "../api/description";
import { Failure } from "../api/failure";

/** Null as long as nobody has asked, and for those who may not know. */
export const findings = signal<Finding[] | null>(null);

export async function loadFindings(): Promise<void> {
  try {
    const { data } = await api().http.request<Finding[] | { findings: Finding[] }>("/console/v1/health");
    findings.value = Array.isArray(data) ? data : data.findings;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    findings.value = null;
  }
}
