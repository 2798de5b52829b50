/** What the path and the query bring, message by message. */
import type { ProtoField } from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { type JsonNode, TranscodeError } from './json-text.ts';
import { shown } from './scalar-of-json.ts';

/** What the path and the query bring for one message. */
export class BoundValues {
  readonly values: { readonly field: ProtoField; readonly text: string }[] = [];
  readonly messages = new Map<ProtoField, BoundValues>();

  /** Adds a field within the message, by way of those before it. */
  add(path: readonly ProtoField[], text: string): void {
    const [field, ...rest] = path;
    if (field === undefined) return;
    if (rest.length === 0) {
      this.values.push({ field, text });
      return;
    }
    let inner = this.messages.get(field);
    if (inner === undefined) this.messages.set(field, (inner = new BoundValues()));
    inner.add(rest, text);
  }
}

/** A body that says something else than the path or the query. */
export function checkCollision(
  bound: BoundValues | undefined,
  field: ProtoField,
  value: JsonNode,
): void {
  for (const each of bound?.values ?? []) {
    if (each.field !== field || field.isRepeated) continue;
    const said = typeof value === 'string' ? value : shown(value);
    if (said === each.text) continue;
    throw new TranscodeError(
      `The binding value "${each.text}" of the field ${field.name} is conflicting with the value ${shown(value)} in the body.`,
    );
  }
}

/** Two fields of which there may be one. */
export function checkChoice(
  choices: Set<string>,
  { oneof }: ProtoField,
  name: string,
  place: string,
): void {
  if (oneof === undefined) return;
  if (choices.has(oneof)) {
    throw new TranscodeError(
      `${place}: invalid value oneof field '${oneof}' is already set. Cannot set '${name}' for type oneof`,
    );
  }
  choices.add(oneof);
}
