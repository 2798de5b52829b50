/** A body, or a piece of one, as scripts see it: bytes that can be read and replaced. */
import { type MethodMaker, type Methods, type Scope, StreamObject } from './stream-object.ts';

export class BodyObject extends StreamObject {
  bytes: Buffer;
  isChanged = false;
  readonly #onSet: ((bytes: Buffer) => void) | undefined;

  constructor(
    methods: Methods,
    scope: Scope,
    { bytes, onSet }: { readonly bytes: Buffer; readonly onSet?: (bytes: Buffer) => void },
  ) {
    super(methods, scope);
    this.bytes = bytes;
    this.#onSet = onSet;
  }

  set(bytes: Buffer): void {
    this.bytes = bytes;
    this.isChanged = true;
    this.#onSet?.(bytes);
  }
}

export function bodyMethods(maker: MethodMaker): Methods {
  const { check, state } = maker;
  return maker.methods<BodyObject>(BodyObject, {
    length: ({ bytes }) => bytes.length,
    getBytes: ({ bytes }, args) => {
      const [from, length] = [check.integer(args, 1), check.integer(args, 2)];
      if (from < 0 || length < 0 || from + length > bytes.length) {
        throw state.hostFailure(
          'index/length must be >= 0 and (index + length) must be <= buffer size',
        );
      }
      state.charge(length);
      return bytes.toString('latin1', from, from + length);
    },
    setBytes: (self, args) => {
      const text = check.text(args, 1);
      state.charge(text.length);
      self.set(Buffer.from(text, 'latin1'));
      return text.length;
    },
  });
}
