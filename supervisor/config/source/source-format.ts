/** Which language a configuration file is written in, by its name; the case does not matter. */

export type SourceFormat = 'yaml' | 'json' | 'pb' | 'pb_text';

/** A name with no known ending is read as JSON, as in Envoy. */
export function sourceFormat(path: string): SourceFormat {
  const name = path.toLowerCase();
  if (name.endsWith('.yaml') || name.endsWith('.yml')) {
    return 'yaml';
  }
  if (name.endsWith('.pb_text')) {
    return 'pb_text';
  }
  return name.endsWith('.pb') ? 'pb' : 'json';
}

/** Undefined for what is no UTF-8. */
export function decodeText(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}
