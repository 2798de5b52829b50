/**
 * Parts of large route tables that are compiled when the first request asks for them: a hundred
 * thousand virtual hosts or routes would hold the loop for a second, and most are never asked.
 */
import { finish, type Steps } from '../loop/sliced-work.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** The number of parts up to which all are compiled at once. */
const EAGER_MAX = 1000;

type Answer<Result> = (headers: HeaderMap, info: StreamInfo) => Result;

/** One of `count` parts, which has more to it than one answer. */
export function* whenAskedSteps<Made>(count: number, make: () => Steps<Made>): Steps<() => Made> {
  if (count <= EAGER_MAX) {
    const made = yield* make();
    return () => made;
  }
  let made: Made | undefined;
  return () => (made ??= finish(make()));
}

/** One of `count` parts. What it throws could not have passed the supervisor's checks. */
export function compileWhenAsked<Result>(
  count: number,
  compile: () => Answer<Result>,
): Answer<Result> {
  if (count <= EAGER_MAX) return compile();
  let compiled: Answer<Result> | undefined;
  return (headers, info) => (compiled ??= compile())(headers, info);
}
