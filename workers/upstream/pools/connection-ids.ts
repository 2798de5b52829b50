/** Numbers of upstream connections, unique within the worker, counted from 1. */
let lastConnectionId = 0;

export function nextUpstreamConnectionId(): number {
  return ++lastConnectionId;
}

/** The next connection is the first again: those before were nobody's. */
export function restartUpstreamConnectionIds(): void {
  lastConnectionId = 0;
}
