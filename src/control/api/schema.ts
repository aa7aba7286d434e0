import { z } from 'zod';

/**
 * The schema of a type that is declared elsewhere. The compiler asks for every one of its keys; that they hold what the
 * schema says is checked by the tests, which read every reply with it.
 */
export function schemaOf<T extends object>() {
  return (shape: { [K in keyof Required<T>]: z.ZodType }): z.ZodType<T> =>
    z.strictObject(shape) as unknown as z.ZodType<T>;
}

/** `?all=1` */
export const flag = z.enum(['0', '1', 'true', 'false']).transform((text) => text === '1' || text === 'true');

/** `?rpc=A,B` or `?rpc=A&rpc=B` */
export const list = z.union([z.string(), z.array(z.string())]).transform((given) =>
  [given]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== ''),
);

export const texts = z.record(z.string(), z.string());
export const plainObject = z.record(z.string(), z.unknown());
