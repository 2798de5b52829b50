/**
 * What one configuration of the transcoder makes of requests: the method that a path leads to and
 * what its path and query bring. Compiled once per configuration.
 */
import type {
  HttpBinding,
  ProtoField,
  TranscodedMethod,
  TranscoderOptions,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { MessagePrinter } from './json-of-message.ts';
import { BoundValues } from './bound-values.ts';
import { MessageWriter } from './message-of-json.ts';
import { PathMatcher, unescapeText } from './path-matcher.ts';
import { type MessageType, ProtoTypes } from './proto-types.ts';
import { STATUS_MESSAGES } from './status-types.ts';

const HTTP_BODY = 'google.api.HttpBody';

/** A request that leads to a method. */
export interface TranscodedCall {
  readonly method: TranscodedMethod;
  readonly binding: HttpBinding;
  readonly input: MessageType;
  readonly output: MessageType;
  readonly bound: BoundValues;
  /** The fields that lead to the body's place; empty: the request itself. */
  readonly bodyPath: readonly ProtoField[];
  /** The body is put in as it is. */
  readonly takesRawBody: boolean;
  /** Likewise an answer, or its field at the end of these. */
  readonly rawResponsePath: readonly ProtoField[] | undefined;
  /** Values of query parameters that the method does not have, where they are to be kept. */
  readonly unknownQuery: ReadonlyMap<string, readonly string[]>;
}

export type FoundCall =
  | { readonly kind: 'call'; readonly call: TranscodedCall }
  | { readonly kind: 'no_method' }
  | { readonly kind: 'unknown_parameter'; readonly details: string };

/** Parameters of one query that are kept for the host. */
const UNKNOWN_QUERY_MAX = 1024;

export class Transcoding {
  readonly options: TranscoderOptions;
  readonly types: ProtoTypes;
  readonly writer: MessageWriter;
  readonly printer: MessagePrinter;
  readonly #paths: PathMatcher;
  readonly #ignored: ReadonlySet<string>;

  constructor(options: TranscoderOptions) {
    this.options = options;
    this.types = new ProtoTypes([...STATUS_MESSAGES, ...options.messages], options.enums);
    this.writer = new MessageWriter(this.types, {
      isEnumCaseIgnored: options.isEnumCaseIgnored,
      rejectsCollisions: options.rejects.collisions,
    });
    this.printer = new MessagePrinter(this.types, options.print);
    this.#paths = new PathMatcher(options);
    this.#ignored = new Set(options.ignoredQueryParameters);
  }

  find(verb: string, path: string, query: string): FoundCall {
    const match = this.#paths.match(verb, path);
    const method = this.options.methods[match?.binding.method ?? -1];
    if (match === undefined || method === undefined) return { kind: 'no_method' };
    const input = this.types.message(method.input);
    const output = this.types.message(method.output);
    if (input === undefined || output === undefined) return { kind: 'no_method' };
    const { binding } = match;
    const bound = new BoundValues();
    for (const { field, text } of match.variables) {
      bound.add(this.fieldsOf(input, field) ?? [], text);
    }
    const unknownQuery = new Map<string, string[]>();
    const unknown = this.#bindQuery(input, query, bound, unknownQuery);
    if (unknown !== undefined) return this.#unknownField(input, unknown);
    const call = this.#callOf({ binding, method, input, output, bound, unknownQuery });
    return { kind: 'call', call };
  }

  #callOf(
    found: Omit<TranscodedCall, 'bodyPath' | 'takesRawBody' | 'rawResponsePath'>,
  ): TranscodedCall {
    const { input, output } = found;
    const { body, responseBody } = found.binding;
    const bodyPath = this.#pathTo(input, body === '*' ? '' : body);
    const rawPath = this.#pathTo(output, responseBody);
    return {
      ...found,
      bodyPath,
      takesRawBody: body !== '' && this.#isRaw(input, bodyPath),
      rawResponsePath: this.#isRaw(output, rawPath) ? rawPath : undefined,
    };
  }

  #pathTo(type: MessageType, path: string): readonly ProtoField[] {
    return path === '' ? [] : (this.fieldsOf(type, path.split('.')) ?? []);
  }

  /** Undefined where the message has no such field. */
  fieldsOf(type: MessageType, path: readonly string[]): readonly ProtoField[] | undefined {
    const fields: ProtoField[] = [];
    let present: MessageType | undefined = type;
    for (const name of path) {
      const field: ProtoField | undefined = present?.byName.get(name);
      if (field === undefined) return undefined;
      fields.push(field);
      present = this.types.typeOfField(field);
    }
    return fields;
  }

  /** The first name on the way that its message does not have. */
  #unknownField(type: MessageType, path: string): FoundCall {
    let present = type;
    for (const name of path.split('.')) {
      const field = present.byName.get(name);
      const inner = field && this.types.typeOfField(field);
      if (inner === undefined) {
        const details =
          field === undefined
            ? `Could not find field "${name}" in the type "${present.name}".`
            : `Encountered a non-leaf field "${name}" that is not a message while parsing a field path`;
        return { kind: 'unknown_parameter', details };
      }
      present = inner;
    }
    return { kind: 'unknown_parameter', details: '' };
  }

  #isRaw(type: MessageType, path: readonly ProtoField[]): boolean {
    const last = path.at(-1);
    return (last === undefined ? type.name : last.type) === HTTP_BODY;
  }

  /** Gives the first parameter that has no field and may not be left out. */
  #bindQuery(
    input: MessageType,
    query: string,
    bound: BoundValues,
    unknown: Map<string, string[]>,
  ): string | undefined {
    const { ignoresUnknownQueryParameters, capturesUnknownQueryParameters } = this.options;
    for (const part of query === '' ? [] : query.split('&')) {
      const equals = part.indexOf('=');
      if (equals <= 0) continue;
      const given = part.slice(0, equals);
      if (this.#ignored.has(given)) continue;
      const name = unescapeText(given, 'all');
      const text = unescapeText(part.slice(equals + 1), 'all', this.options.unescapesPlus);
      const fields = this.fieldsOf(input, name.split('.'));
      if (fields !== undefined) {
        bound.add(fields, text);
      } else if (capturesUnknownQueryParameters) {
        if (unknown.size < UNKNOWN_QUERY_MAX) addTo(unknown, name, text);
      } else if (!ignoresUnknownQueryParameters) {
        return name;
      }
    }
    return undefined;
  }
}

function addTo(values: Map<string, string[]>, name: string, text: string): void {
  const known = values.get(name);
  if (known === undefined) values.set(name, [text]);
  else known.push(text);
}
