/**
 * The shared memory object that all epochs of a base id open. A child checks in it that its parent
 * speaks the same protocol, and the epoch that is starting marks itself there.
 *
 *   u64 size | u64 version | pthread_mutex_t log | pthread_mutex_t access log | u64 flags
 *
 * Sluice locks neither mutex (its log lines are single writes), but makes both robust and shared,
 * for a child of Envoy locks them. Source: the object that Envoy leaves in /dev/shm.
 */
import { closeSync, fstatSync, unlinkSync, writeSync } from 'node:fs';
import { LAYOUTS } from '../../shared/posix/layout.ts';
import { initialiseSharedMutex } from '../../shared/posix/shared-mutex.ts';
import { mapSharedMemory, openSharedMemory } from '../../shared/posix/shared-memory.ts';

/** The protocol that Sluice speaks; Envoy's own number. */
const PROTOCOL_VERSION = 11n;
const FLAG_INITIALIZING = 1n;

const SIZE_AT = 0;
const VERSION_AT = 1;
const HEADER_BYTES = 16;

/** Why an epoch cannot share the object of the epoch before it. */
export type SharedObjectRefusal =
  | { readonly reason: 'missing'; readonly name: string }
  | { readonly reason: 'no_permission'; readonly name: string; readonly detail: string }
  /** Something else has the name, or another user made it, who could take the memory away again. */
  | { readonly reason: 'unusable'; readonly name: string; readonly detail: string }
  /** The other epochs were built for another protocol, or another architecture. */
  | { readonly reason: 'incompatible'; readonly name: string; readonly theirs: string };

/** `11.104` on x86-64 with glibc: the protocol's version and the object's size. */
export function hotRestartVersion(): string {
  return `${PROTOCOL_VERSION}.${objectBytes()}`;
}

export class SharedObject {
  readonly name: string;
  readonly #words: BigUint64Array;

  private constructor(name: string, memory: ArrayBuffer) {
    this.name = name;
    this.#words = new BigUint64Array(memory, 0, Math.floor(memory.byteLength / 8));
  }

  /** Epoch 0: replaces whatever an earlier server left behind, or says why it cannot. */
  static create(name: string): SharedObject | SharedObjectRefusal {
    try {
      removeSharedObject(name);
      return SharedObject.#make(name);
    } catch (error) {
      return refusalOf(name, error);
    }
  }

  static #make(name: string): SharedObject {
    const fd = openSharedMemory(name, 'create');
    try {
      const bytes = objectBytes();
      // Written rather than only made so long: memory that a full file system does not have ends a
      // process at its first use.
      writeWhole(name, fd, bytes);
      const memory = mapSharedMemory(fd, bytes);
      const object = new SharedObject(name, memory);
      object.#words[SIZE_AT] = BigInt(bytes);
      object.#words[VERSION_AT] = PROTOCOL_VERSION;
      initialiseSharedMutex(memory, HEADER_BYTES);
      initialiseSharedMutex(memory, HEADER_BYTES + mutexBytes());
      return object;
    } finally {
      closeSync(fd);
    }
  }

  /** A later epoch: opens what is there, or says why it cannot. */
  static open(name: string): SharedObject | SharedObjectRefusal {
    let fd: number;
    try {
      fd = openSharedMemory(name, 'open');
    } catch (error) {
      return refusalOf(name, error);
    }
    try {
      const { size, uid } = fstatSync(fd);
      if (!isTrusted(uid)) {
        return { reason: 'unusable', name, detail: `it is of another user (${uid})` };
      }
      if (size < HEADER_BYTES) return { reason: 'incompatible', name, theirs: `size ${size}` };
      const object = new SharedObject(name, mapSharedMemory(fd, size));
      const theirs = `${object.#words[VERSION_AT] ?? 0n}.${object.#words[SIZE_AT] ?? 0n}`;
      const isSame = theirs === hotRestartVersion() && size === objectBytes();
      return isSame ? object : { reason: 'incompatible', name, theirs };
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Whether an epoch says that it is starting. An epoch that died while starting says so for ever.
   */
  get isInitializing(): boolean {
    return (Atomics.load(this.#words, this.#flagsAt()) & FLAG_INITIALIZING) !== 0n;
  }

  markInitializing(): void {
    Atomics.or(this.#words, this.#flagsAt(), FLAG_INITIALIZING);
  }

  markInitialized(): void {
    Atomics.and(this.#words, this.#flagsAt(), ~FLAG_INITIALIZING & 0xffffffffffffffffn);
  }

  #flagsAt(): number {
    return this.#words.length - 1;
  }
}

/** Removes the object when the last epoch ends; silent when it is not there. */
export function removeSharedObject(name: string): void {
  try {
    unlinkSync(`/dev/shm${name}`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function writeWhole(name: string, fd: number, bytes: number): void {
  try {
    writeSync(fd, Buffer.alloc(bytes));
  } catch (error) {
    removeSharedObject(name);
    throw error;
  }
}

/** A process that has the memory may make it shorter, which ends every process that uses it. */
function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.() || uid === process.geteuid?.();
}

function mutexBytes(): number {
  return LAYOUTS[process.arch]?.mutexBytes ?? 40;
}

function objectBytes(): number {
  return HEADER_BYTES + 2 * mutexBytes() + 8;
}

function refusalOf(name: string, error: unknown): SharedObjectRefusal {
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'ENOENT') return { reason: 'missing', name };
    if (error.code === 'EACCES' || error.code === 'EPERM') {
      return { reason: 'no_permission', name, detail: error.message };
    }
    return { reason: 'unusable', name, detail: error.message };
  }
  throw error;
}
