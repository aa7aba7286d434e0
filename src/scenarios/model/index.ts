/** A scenario as the engine and the verdict work with it; see scenario.ts. */
export * from './action';
export * from './expectation';
export * from './expression';
export * from './match';
export * from './pattern';
export * from './rule';
export * from './scenario';
export * from './when';
