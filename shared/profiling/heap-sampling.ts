/**
 * Begins to sample the heap by V8's own function. The inspector's `startSampling` asks V8 to
 * collect the whole heap before each reading, which stops the process for a tenth of a second per
 * hundred megabytes; V8 itself can do without. What is read then may hold objects that nobody uses
 * any more and that the next collection will take away, as in profiles of Go.
 */
import { libcFunction } from '../posix/libc.ts';

/** `v8::HeapProfiler::SamplingFlags`. */
const IN_USE = 0;
const WITH_COLLECTED = 0b110;
/** Frames of a stack that are kept; the inspector's. */
const STACK_FRAMES = 128;

/** The names say which types of arguments they take: one that is there takes these. */
const currentIsolate = libcFunction<[], unknown>('void *_ZN2v87Isolate10GetCurrentEv()');
const heapProfilerOf = libcFunction<[unknown], unknown>(
  'void *_ZN2v87Isolate15GetHeapProfilerEv(void *isolate)',
);
const startSampling = libcFunction<[unknown, number, number, number], boolean>(
  'bool _ZN2v812HeapProfiler25StartSamplingHeapProfilerEmiNS0_13SamplingFlagsE' +
    '(void *profiler, uint64_t interval, int frames, int flags)',
);

/** False where this runtime does not offer it; the inspector's way is left then. */
export function startHeapSampling(intervalBytes: number, what: 'inuse' | 'alloc'): boolean {
  try {
    const profiler = heapProfilerOf(currentIsolate());
    const flags = what === 'inuse' ? IN_USE : WITH_COLLECTED;
    return startSampling(profiler, intervalBytes, STACK_FRAMES, flags);
  } catch {
    // A build of Node.js that hides V8's functions.
    return false;
  }
}
