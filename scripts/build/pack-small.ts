/**
 * Packs what runs beside the program: the code of pool threads and the restarter, one file each.
 * None of them has a code cache: they are small, or start while the program waits for nothing.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

/** Loaded by their path. */
const THREADS = [
  'supervisor/config/pool-entry',
  'supervisor/profiling/pool-entry',
  'supervisor/scripts/discovery/thread-entry',
  'supervisor/scripts/pool-entry',
  'supervisor/stats/guarded-filter/pool-entry',
] as const;

const RESTARTER = 'src/restarter-main';

/** `shared` are the options of every packed file; returns what went into the files. */
export async function packSmall(projectRoot: string, shared: BuildOptions): Promise<string[]> {
  const inputs: string[] = [];
  const pack = async (entry: string, options: BuildOptions): Promise<void> => {
    const { metafile } = await build({
      ...shared,
      ...options,
      entryPoints: [`${entry}.ts`],
      minifyWhitespace: true,
      metafile: true,
    });
    inputs.push(...Object.keys(metafile?.inputs ?? {}));
  };
  for (const entry of THREADS) {
    await pack(entry, {
      outfile: `dist/${entry}.cjs`,
      format: 'cjs',
      // Their stacks are nobody's to read: what they say is in their messages.
      minifyIdentifiers: true,
      minifySyntax: true,
      supported: { 'dynamic-import': false },
      define: { 'import.meta.dirname': '__dirname' },
    });
  }
  // In the place of what the compiler wrote.
  rmSync(join(projectRoot, 'dist', `${RESTARTER}.js.map`), { force: true });
  await pack(RESTARTER, { outfile: `dist/${RESTARTER}.js`, format: 'esm', allowOverwrite: true });
  return inputs;
}
