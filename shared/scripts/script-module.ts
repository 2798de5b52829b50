/** Modules as they travel from the supervisor to workers: every file that belongs to one. */

/** All files of one module, in characters. */
export const SCRIPT_CHARACTERS_MAX = 4 * 1024 * 1024;
export const SCRIPT_FILES_MAX = 256;

export interface ScriptFile {
  readonly path: string;
  /** JavaScript, with what it says at the place where it says it in the file. */
  readonly text: string;
}

export interface ScriptModule {
  /** The path of the file that begins, under which all filters share the module. */
  readonly entry: string;
  /** The digest of the texts of all files: two modules with the same one are the same. */
  readonly digest: string;
  readonly files: readonly ScriptFile[];
}
