// Loads the next page of a list.

import { t } from "../../viewer/language.ts";
import { Button } from "../button.tsx";

interface Props {
  /** Default: "Show more". */
  label?: string;
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

export function MoreButton({
  label = t("Show more"),
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: Props) {
  if (!hasNextPage) return null;
  return (
    <div className="mt-3">
      <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {label}
      </Button>
    </div>
  );
}
