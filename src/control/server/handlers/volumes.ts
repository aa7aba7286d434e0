import { volumeView, volumeViews } from '../../../server/inspect';
import { ControlError } from '../../error';
import type { Handlers } from '../exchange';

export const volumeHandlers = {
  volumes: (_, { driver: { env } }) => ({ volumes: volumeViews(env) }),

  volume: ({ params: { id } }, { driver: { env } }) => {
    const view = volumeView(env, id);
    if (view) return view;
    throw new ControlError(
      'not-found',
      404,
      `no volume with the id ${JSON.stringify(id)} in ${env.layout.root}; GET /v1/volumes lists them`,
    );
  },
} satisfies Partial<Handlers>;
