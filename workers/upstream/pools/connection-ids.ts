/** Numbers of upstream connections, unique within the worker, counted from 1. */
let lastConnectionId = 0;

export function nextUpstreamConnectionId(): number {
  return ++lastConnectionId;
}
