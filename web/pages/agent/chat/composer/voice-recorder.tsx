// Records until the person is done or gives up, and says how long it is.

import { Check, Mic, X } from "lucide-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { Button } from "../../../../parts/button.tsx";
import { IconButton } from "../../../../parts/icon-button.tsx";
import { showError } from "../../../../parts/toast.tsx";
import { t } from "../../../../viewer/language.ts";
import { type Recording, startRecording } from "./voice.ts";

/** Seconds; longer recordings are better sent as a file. */
const LONGEST = 300;

/** Calls `onDone` with the recorded file, or without one if it was cancelled. */
export function VoiceRecorder({ onDone }: { onDone: (file: File | undefined) => void }) {
  const recording = useRef<Recording>(undefined);
  const [seconds, setSeconds] = useState<number>();
  const done = useEffectEvent(onDone);
  useEffect(() => {
    let hasLeft = false;
    let timer: ReturnType<typeof setInterval> | undefined;
    startRecording().then(
      (started) => {
        if (hasLeft) return started.cancel();
        recording.current = started;
        setSeconds(0);
        timer = setInterval(() => setSeconds((before = 0) => before + 1), 1_000);
      },
      () => {
        showError(t("The microphone can't be used. Allow it for this page in the browser, then try again."));
        done(undefined);
      },
    );
    return () => {
      hasLeft = true;
      clearInterval(timer);
      recording.current?.cancel();
    };
  }, []);
  const finish = async () => {
    try {
      onDone(await recording.current?.finish());
    } catch {
      showError(t("The recording can't be read. Try again, or send a file."));
      onDone(undefined);
    }
  };
  const finishLong = useEffectEvent(() => void finish());
  const isTooLong = (seconds ?? 0) >= LONGEST;
  useEffect(() => {
    if (isTooLong) finishLong();
  }, [isTooLong]);
  return (
    <div className="flex items-center gap-2 px-2 py-1">
      <Mic className="size-4 animate-pulse text-bad" aria-hidden="true" />
      <span role="status" className="flex-1">
        {seconds === undefined ? t("Asks for the microphone…") : t("Records…")}
        {seconds !== undefined && (
          <span aria-hidden="true" className="ml-2 text-soft">
            {`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`}
          </span>
        )}
      </span>
      <IconButton label={t("Discard the recording")} onClick={() => onDone(undefined)}>
        <X />
      </IconButton>
      <Button disabled={seconds === undefined} onClick={() => void finish()}>
        <Check aria-hidden="true" />
        {t("Use the recording")}
      </Button>
    </div>
  );
}
