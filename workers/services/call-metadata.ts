/** The metadata that a configured service's calls carry. */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat, literalOf } from '../substitution/compile-format.ts';

/** Visits each entry for a call that is made for `parent`, in the order of the configuration. */
export type CallMetadata = (
  parent: StreamInfo | undefined,
  visit: (name: string, value: string) => void,
) => void;

export function compileMetadata(entries: GrpcTarget['metadata']): CallMetadata {
  const compiled = entries.map(({ key, value }) => {
    const isLiteral = literalOf(value) !== undefined;
    return {
      name: key.toLowerCase(),
      value,
      format: isLiteral ? undefined : compileTextFormat(value, { omitEmptyValues: true }),
    };
  });
  return (parent, visit) => {
    for (const { name, value, format } of compiled) {
      const text = format === undefined || parent === undefined ? value : format(parent);
      if (text !== '') visit(name, text);
    }
  };
}

export function isBinary(name: string): boolean {
  return name.endsWith('-bin');
}
