/** The words for what is wrong with a value. */

import { t } from "../i18n";
import type { Fault } from "../model/checks";

export function faultText(fault: Fault): string {
  return "limit" in fault ? t(`forms.fault_${fault.kind}`, { limit: fault.limit, count: fault.limit }) : t(`forms.fault_${fault.kind}`);
}
