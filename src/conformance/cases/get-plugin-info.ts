import { casesOf } from '../case';

/** RFC 1035 labels and dots: what the specification calls domain name notation, digits at the ends included. */
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

export const getPluginInfo = casesOf('Identity.GetPluginInfo', [
  {
    id: 'I01',
    level: 'must',
    section: 'GetPluginInfo',
    title: 'the name has 1 to 63 characters of domain name notation, with a letter or digit at both ends',
    run: async (probe) => {
      const { name } = await probe.ok('GetPluginInfo', {});
      probe.that(name !== '' && name.length <= 63, 'a name of 1 to 63 characters', `${name.length}: ${name}`);
      probe.that(NAME.test(name), 'letters, digits, dots and dashes, none of the latter two at an end', name);
    },
  },
]);
