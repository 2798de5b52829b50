/**
 * Lists whose elements are made while they are read: a dump of ten thousand clusters must not make
 * ten thousand objects before its first byte.
 */

/** Each reading makes the elements again. */
export function mapLazily<From, To>(items: Iterable<From>, make: (item: From) => To): Iterable<To> {
  return {
    *[Symbol.iterator]() {
      for (const item of items) yield make(item);
    },
  };
}
