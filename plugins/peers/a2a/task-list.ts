// Lists the tasks of a conversation, in pages (A2A 1.0, ListTasks).
//
// Only the id of a conversation, which nobody can guess, tells one client from another. So a list has the tasks of one conversation.
import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";

const DEFAULT_SIZE = 50;
const MAX_SIZE = 100;

/** Throws `RequestMalformedError` for values that are no numbers or times, and for a token of another list. */
export function taskPage(request: ListTasksRequest, tasks: readonly Task[]): ListTasksResponse {
  const { status, statusTimestampAfter, pageToken, pageSize: wanted = DEFAULT_SIZE, includeArtifacts } = request;
  if (!Number.isInteger(wanted) || wanted < 1) throw new RequestMalformedError("The pageSize is 1 to 100.");
  const after = statusTimestampAfter ? Date.parse(statusTimestampAfter) : Number.NEGATIVE_INFINITY;
  if (Number.isNaN(after)) throw new RequestMalformedError("The statusTimestampAfter is a time in ISO 8601.");
  const isWanted = (task: Task) =>
    (status === TaskState.TASK_STATE_UNSPECIFIED || task.status?.state === status) &&
    Date.parse(task.status?.timestamp ?? "") >= after;
  const found = tasks.filter(isWanted);
  // The token is the id of the last task of the page before.
  const start = pageToken === "" ? 0 : found.findIndex(({ id }) => id === pageToken) + 1;
  if (pageToken !== "" && start === 0) throw new RequestMalformedError("The pageToken is not one of this list.");
  const pageSize = Math.min(wanted, MAX_SIZE);
  const page = found.slice(start, start + pageSize);
  const isLast = start + pageSize >= found.length;
  return {
    tasks: includeArtifacts ? page : page.map((task) => ({ ...task, artifacts: [] })),
    nextPageToken: isLast ? "" : (page.at(-1)?.id ?? ""),
    pageSize,
    totalSize: found.length,
  };
}
