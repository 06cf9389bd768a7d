/** An object with declared members, and the values that people store beside a record (meta). */

import type { JSX } from "preact";
import { t } from "../i18n";
import { isObject } from "../model/json-schema";
import { withMember } from "../model/values";
import { Button } from "../ui";
import { Nested } from "./nested";
import type { ControlProps } from "./types";

export function ObjectControl({ field, at, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const members = isObject(value) ? value : {};
  if (field.children.length === 0) {
    return <p class="field-help">{t("forms.no_members")}</p>;
  }
  return (
    <div class="fieldset-body">
      {field.children.map((child) => (
        <Nested
          key={child.name}
          field={child}
          at={`${at}.${child.name}`}
          value={members[child.name]}
          onChange={(next) => onChange(withMember(members, child.name, next))}
          readOnly={readOnly}
          form={form}
        />
      ))}
      {field.nullable && !readOnly && isObject(value) && (
        <div>
          <Button kind="quiet" small icon="close" onClick={() => onChange(null)}>
            {t("forms.unset", { name: field.label })}
          </Button>
        </div>
      )}
    </div>
  );
}
