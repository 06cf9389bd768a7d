/** Edits a resource that is one document, in groups. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { t } from "../../i18n";
import { arrangeSingleton, type GroupId } from "../../model/form-layout";
import { Page } from "../../shell/page";
import { Button, Failed, Skeleton } from "../../ui";
import { FormFrame, useSaving } from "../form/form";
import { ProgressText } from "../form/notices";
import { GroupBox } from "../form/places";
import { useSession, type Opened } from "../form/use-session";
import type { ResourceScreenProps } from "../table";
import "../form/form.css";

const NO_PARAMS = {};

export function SingletonScreen({ resource }: ResourceScreenProps): JSX.Element {
  const { state, reload } = useSession(resource, null, NO_PARAMS);
  if (state.kind === "open") {
    return <Singleton session={state.session} keeper={state.keeper} />;
  }
  return <Page title={resource.label}>{state.kind === "loading" ? <Skeleton lines={9} /> : <Failed error={state.error} onRetry={reload} />}</Page>;
}

function Singleton({ session, keeper }: Opened): JSX.Element {
  const { resource } = session;
  const saving = useSaving({ session, keeper }, () => undefined);
  const fields = session.fields.value;
  const groups = useMemo(() => arrangeSingleton(resource, fields, (group: GroupId) => t(`forms.group_${group}`)), [fields]);
  return (
    <Page title={resource.label} width="narrow" actions={<Bar session={session} keeper={keeper} onSave={() => void saving.run(session.quietStep())} />}>
      <FormFrame session={session} keeper={keeper} saving={saving} label={resource.label}>
        <div class="form-groups">
          {groups.map((group) => (
            <GroupBox key={group.id} group={group} store={session.store} scope={saving.scope} />
          ))}
        </div>
      </FormFrame>
    </Page>
  );
}

function Bar({ session, keeper, onSave }: Opened & { onSave(): void }): JSX.Element {
  return (
    <>
      <ProgressText session={session} keeper={keeper} />
      {session.mayWrite() && (
        <Button kind="primary" busy={session.progress.value === "saving"} onClick={onSave}>
          {t("forms.save")}
        </Button>
      )}
    </>
  );
}
