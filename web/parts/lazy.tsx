// Components whose code is loaded when they are shown first. Without a connection they say so where they would be, and come
// when it is back, by themselves or by a button; the page around them stays as it is.

import { type ComponentType, type ReactNode, useLayoutEffect, useState } from "react";
import { onReturn } from "../api/connection.ts";
import { IncompleteError, OutdatedError, UnreachableError } from "../api/errors.ts";
import { reloadForFile, reloadIfOutdated } from "../api/update.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorNote, ErrorPage, titleOf } from "./error-note.tsx";
import { PageSkeleton, Skeleton } from "./skeleton.tsx";

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

interface Shown<Props> {
  /** While the code loads. */
  waiting: (props: Props) => ReactNode;
  /** In its place while it can't be had. */
  failed: (error: unknown, retry: () => void, props: Props) => ReactNode;
}

/** A component that loads its code when it is shown first, or before that by `load()`. */
export type LazyComponent<Props = object> = ComponentType<Props> & { load: () => Promise<void> };

/** Loads the code of a component before it is shown. The component itself tells what failed, where it would be. */
export function useCodeOf(component: LazyComponent | undefined): void {
  useLayoutEffect(() => {
    component?.load().catch(() => undefined);
  }, [component]);
}

const nothing = () => null;

function lazyComponent<Props extends object>(
  load: Load<Props>,
  { waiting, failed }: Shown<Props>,
): LazyComponent<Props> {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const loadOnce = async () => {
    if (Loaded) return;
    loading ??= load()
      .then((module) => {
        Loaded = module.default;
      })
      .finally(() => {
        loading = undefined;
      });
    await loading;
  };
  function Lazy(props: Props) {
    const [, setThere] = useState(Loaded !== undefined);
    const [failure, setFailure] = useState<{ error: unknown }>();
    const [start] = useState(() => () => {
      loadOnce().then(
        () => {
          setThere(true);
          setFailure(undefined);
        },
        (error: unknown) => setFailure({ error }),
      );
    });
    useLayoutEffect(() => {
      if (Loaded) return;
      start();
      return onReturn(start);
    }, [start]);
    if (Loaded) return <Loaded {...props} />;
    if (!failure) return waiting(props);
    const { error } = failure;
    // A fault in the code itself is one of the page: its boundary tells it.
    if (!(error instanceof UnreachableError || error instanceof OutdatedError)) throw error;
    return failed(error, start, props);
  }
  return Object.assign(Lazy, { load: loadOnce });
}

type Note = ComponentType<{ error: unknown; onRetry: () => void }>;

/** Whether the page is loaded anew for its code: with that of now after an update, or once more for a file that did not come. */
function isReloadedFor(error: unknown): boolean {
  if (error instanceof IncompleteError) return reloadForFile(error.file);
  return error instanceof OutdatedError && reloadIfOutdated();
}

const pageFailed = (Note: Note) => (error: unknown, retry: () => void) =>
  isReloadedFor(error) ? null : <Note error={error} onRetry={retry} />;

/** A whole page, inside of the shell. */
export const lazyPage = (load: Load<object>): LazyComponent =>
  lazyComponent(load, { waiting: () => <PageSkeleton />, failed: pageFailed(ErrorPage) });

/** A page that is its own frame. */
export const lazyBarePage = (load: Load<object>): LazyComponent =>
  lazyComponent(load, { waiting: inMain(PageSkeleton), failed: pageFailed(inMain(ErrorPage)) });

const inMain =
  <Props extends object>(Inner: ComponentType<Props>) =>
  (props: Props) => (
    <main>
      <Inner {...props} />
    </main>
  );

/** A page below a frame of its own, such as one of an agent's. */
export const lazyPagePart = (load: Load<object>): LazyComponent =>
  lazyComponent(load, { waiting: () => <Skeleton className="h-40" />, failed: pageFailed(ErrorNote) });

/** A part of a page. `waiting` has the size of what comes. */
export const lazyPart = <Props extends object>(load: Load<Props>, waiting: (props: Props) => ReactNode = nothing) =>
  lazyComponent(load, { waiting, failed: (error, retry) => <ErrorNote error={error} onRetry={retry} /> });

/** A dialog or menu, in place of which `waiting` is shown; a small dialog in its place says that it can't be loaded. */
export const lazyDialog = <Props extends { onClose: () => void }>(
  load: Load<Props>,
  waiting: (props: Props) => ReactNode = nothing,
) =>
  lazyComponent(load, {
    waiting,
    failed: (error, retry, props) => (
      <>
        {waiting(props)}
        <Dialog title={titleOf(error)} onClose={props.onClose}>
          <ErrorNote error={error} onRetry={retry} />
        </Dialog>
      </>
    ),
  });
