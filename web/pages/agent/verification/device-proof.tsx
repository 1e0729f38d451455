// The proof by this device or a security key.

import { Fingerprint } from "lucide-react";
import { ApiError, UnreachableError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { answerChallenge, hasAuthenticators } from "./authenticator.ts";
import { requestChallenge, useVerify } from "./use-verify.ts";

export function DeviceProof({ agentId }: { agentId: string }) {
  const { mutate, isPending, error } = useVerify(agentId, "webauthn");
  if (!hasAuthenticators()) {
    return (
      <p className="text-soft text-sm">
        {t("This browser does not offer it here. It needs a current browser, and an address with https.")}
      </p>
    );
  }
  const prove = async () => {
    const { options = {} } = await requestChallenge(agentId, "webauthn");
    return { signature: await answerChallenge(options) };
  };
  return (
    <>
      <Button isBusy={isPending} onClick={() => mutate(prove)}>
        <Fingerprint aria-hidden="true" />
        {t("Confirm with this device")}
      </Button>
      {error &&
        (error instanceof ApiError || error instanceof UnreachableError ? (
          <ErrorNote error={error} />
        ) : (
          <div role="alert">
            <Notice tone="warn">
              {t("The device did not confirm it. Nothing has changed; try again when you like.")}
            </Notice>
          </div>
        ))}
    </>
  );
}
