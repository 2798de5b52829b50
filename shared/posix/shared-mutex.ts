/**
 * pthread mutexes inside shared memory, made by libc itself. Sluice only makes them, for processes
 * of other programs that lock them; it never locks one.
 */
import { check, layout, libcFunction, stableBuffer } from './libc.ts';

const attributeInit = libcFunction<[Buffer], number>('int pthread_mutexattr_init(uint8_t *)');
const attributeSetShared = libcFunction<[Buffer, number], number>(
  'int pthread_mutexattr_setpshared(uint8_t *, int)',
);
const attributeSetRobust = libcFunction<[Buffer, number], number>(
  'int pthread_mutexattr_setrobust(uint8_t *, int)',
);
const mutexInit = libcFunction<[Uint8Array, Buffer], number>(
  'int pthread_mutex_init(uint8_t *, const uint8_t *)',
);

const PTHREAD_PROCESS_SHARED = 1;
const PTHREAD_MUTEX_ROBUST = 1;
/** Large enough for every libc; glibc's has 4 bytes. */
const ATTRIBUTE_BYTES = 64;

/** Makes a process-shared, robust mutex at `offset` of mapped memory. */
export function initialiseSharedMutex(memory: ArrayBuffer, offset: number): void {
  const attribute = stableBuffer(ATTRIBUTE_BYTES);
  check(-attributeInit(attribute), 'pthread_mutexattr_init');
  check(-attributeSetShared(attribute, PTHREAD_PROCESS_SHARED), 'pthread_mutexattr_setpshared');
  check(-attributeSetRobust(attribute, PTHREAD_MUTEX_ROBUST), 'pthread_mutexattr_setrobust');
  const mutex = new Uint8Array(memory, offset, layout().mutexBytes);
  check(-mutexInit(mutex, attribute), 'pthread_mutex_init');
}
