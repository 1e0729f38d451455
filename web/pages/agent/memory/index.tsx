// What an agent knows: the facts that it remembers, and the files that it searches.

import { Choice } from "../../../parts/forms/choice.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { Facts } from "./facts.tsx";
import { Files } from "./files/files.tsx";

export default function MemoryPage() {
  const [shown, setShown] = useParameter("show");
  return (
    <>
      <div className="mb-3">
        <Choice
          label={t("What it knows")}
          value={shown}
          options={[
            { value: "", label: t("Facts") },
            { value: "files", label: t("Files") },
          ]}
          onChange={setShown}
        />
      </div>
      {shown === "files" ? <Files /> : <Facts />}
    </>
  );
}
