// Says below a heading that some cells are left out of the figures of the whole server.
import { t, tn } from "../../viewer/language.ts";

export interface AskedCells {
  asked: number;
  missing: number[];
}

export const MissingCells = ({ cells }: { cells?: AskedCells | undefined }) =>
  cells &&
  cells.missing.length > 0 && (
    <p className="mb-4 text-soft text-sm" role="status">
      {tn(
        "{n} cell does not answer and is left out:",
        "{n} cells do not answer and are left out:",
        cells.missing.length,
      )}{" "}
      {t("{numbers} of {asked}.", { numbers: cells.missing.join(", "), asked: cells.asked })}
    </p>
  );
