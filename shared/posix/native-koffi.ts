/**
 * koffi without its own search for the native part. Node resolves the names of koffi's package with
 * patterns that it compiles first, and koffi reads the header of the runtime's file to tell C
 * libraries apart: 5 ms of processor time in each process, where loading the part takes 1.7.
 */
import type * as koffi from 'koffi';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { builtRoot } from '../process/built-root.ts';

/** As `koffi` names it in package.json: another version may be installed beside ours. */
export const KOFFI_VERSION = '3.3.4';

export type Koffi = typeof koffi;

const require = createRequire(join(builtRoot, 'shared', 'posix', 'native-koffi.js'));

/** With `koffi` itself where its part for this machine is not where npm puts it. */
export function loadKoffi(): Koffi {
  return nativeKoffi() ?? (require('koffi') as { readonly default: Koffi }).default;
}

/** Undefined for another version, another C library than the GNU one, and where it is not found. */
export function nativeKoffi(
  load: (name: string) => unknown = (name) => require(name),
): Koffi | undefined {
  const { platform, arch } = process;
  try {
    const folder = `@koromix/koffi-${platform}-${arch}`;
    const found = load(`${folder}/${platform}_${arch}/koffi.node`) as Koffi;
    return found.version === KOFFI_VERSION ? found : undefined;
  } catch {
    return undefined;
  }
}
