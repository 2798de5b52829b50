/**
 * What must be so when the code around it is right. The runtime's own module loads its colours and
 * opens standard error for them: 3 ms of every process's start.
 */
export function assert(isTrue: boolean, text = 'it must be so'): asserts isTrue {
  if (!isTrue) throw new Error(`assertion failed: ${text}`);
}
