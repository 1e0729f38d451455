// What an agent knows: the facts that it remembers, and the files that it searches.

import { useParameter } from "../../../app/address.ts";
import { t } from "../../../app/language.ts";
import { Choice } from "../../../parts/choice.tsx";
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
