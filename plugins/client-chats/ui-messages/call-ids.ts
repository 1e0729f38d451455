// Names the calls of a turn by their places in it, so that streams and stored messages call them alike: providers' ids are not stored,
// and some providers use one id twice.

export const callIdOf = (turnId: string, place: number) => `${turnId}.${place}`;

export interface CallIds {
  /** The id of a call that begins; `id` and `parent` are the provider's. */
  begin(id: string, parent: string | undefined): string;
  /** The id of the latest call to which the provider has given this one. */
  of(id: string): string | undefined;
  /** The turn begins anew: the calls in its journal come again in the same order. */
  repeat(): void;
}

export function createCallIds(turnId: string): CallIds {
  const ids = new Map<string, string>();
  let calls = 0;
  return {
    begin(id, parent) {
      const maker = parent === undefined ? undefined : ids.get(parent);
      // The id of a call within a call begins with its maker's.
      const given = maker === undefined ? callIdOf(turnId, calls++) : `${maker}${id.slice(parent?.length)}`;
      ids.set(id, given);
      return given;
    },
    of: (id) => ids.get(id),
    repeat() {
      ids.clear();
      calls = 0;
    },
  };
}
