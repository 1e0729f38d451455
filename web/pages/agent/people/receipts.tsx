// The receipts of those who were erased from an agent, to be kept or given to the person. They name nobody.

import { Download } from "lucide-react";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { MoreButton } from "../../../parts/lists/more-button.tsx";
import { Rows } from "../../../parts/lists/rows.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { downloadText } from "../../../parts/text/download.ts";
import { platformName } from "../../../parts/values/platform.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t, tn } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type Receipt, useReceipts } from "./data.ts";
import { ReceiptCheck } from "./receipt-check.tsx";

const rowsOf = ({ deleted }: Receipt) => Object.values(deleted).reduce((sum, count) => sum + count, 0);

const save = (receipt: Receipt) =>
  downloadText(
    `receipt-${receipt.endedAt.slice(0, 10)}.json`,
    `${JSON.stringify(receipt, null, 2)}\n`,
    "application/json",
  );

export function Receipts() {
  const { id } = useAgent();
  const receipts = useReceipts(id);
  const rows = receipts.data?.pages.flatMap(({ erasures }) => erasures);
  if (receipts.error && !rows) return <ErrorNote error={receipts.error} onRetry={() => void receipts.refetch()} />;
  if (!rows || rows.length === 0) return null;
  return (
    <Section
      title={t("Receipts")}
      hint={t("What was deleted of people who were erased, and what remains and why. A receipt names nobody.")}
    >
      <Rows
        label={t("Receipts")}
        rows={rows}
        keyOf={(erasure) => erasure.id}
        columns="md:grid-cols-[14rem_8rem_minmax(0,1fr)_auto]"
      >
        {({ receipt, startedAt }) => (
          <>
            <span className="font-medium">
              <When at={receipt?.endedAt ?? startedAt} isExact />
            </span>
            <span>{receipt ? platformName(receipt.person.channel) : ""}</span>
            <span className="text-soft">
              {receipt
                ? tn("{n} row or file deleted", "{n} rows and files deleted", rowsOf(receipt))
                : t("It is under way.")}
            </span>
            {receipt && (
              <Button onClick={() => save(receipt)}>
                <Download aria-hidden="true" />
                {t("Save the receipt")}
              </Button>
            )}
          </>
        )}
      </Rows>
      <MoreButton query={receipts} />
      <ReceiptCheck />
    </Section>
  );
}
