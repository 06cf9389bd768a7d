/** True or false; where the value may also be unset, a choice of three. */

import type { JSX } from "preact";
import { t } from "../i18n";
import type { ControlProps } from "./types";

export function Switch({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  if (field.nullable) {
    return (
      <select
        {...ids}
        class="select"
        value={value === true ? "true" : value === false ? "false" : ""}
        disabled={readOnly}
        onChange={(event) => onChange(event.currentTarget.value === "" ? null : event.currentTarget.value === "true")}
      >
        <option value="">{t("forms.not_set")}</option>
        <option value="true">{t("forms.yes")}</option>
        <option value="false">{t("forms.no")}</option>
      </select>
    );
  }
  return (
    <input
      {...ids}
      type="checkbox"
      role="switch"
      class="switch"
      checked={value === true}
      disabled={readOnly}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
