/**
 * The one place where a process of the project ends itself. Everything that must be written first
 * has been written when this is called.
 */

/** Never returns. */
export function exitProcess(code: number): never {
  process.exit(code);
}
