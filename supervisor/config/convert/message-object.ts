/** The plain objects that normalised messages are made of. */

export type MessageObject = { [field: string]: unknown };

/** Sets a key that the user chose; `__proto__` becomes an ordinary key too. */
export function setKey(target: MessageObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
}

export function isMessageObject(value: unknown): value is MessageObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text that a field should hold; empty when it holds anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
