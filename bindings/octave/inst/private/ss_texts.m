function texts = ss_texts(pairs)
% ss_texts  Names and values, {'dt', 0.01, 'islands', true}, as texts: {'dt=0.01', 'islands=true'}.
  if mod(numel(pairs), 2) ~= 0
    error('stickslip:usage', 'options come in pairs of a name and a value');
  end
  texts = cell(1, numel(pairs) / 2);
  for k = 1:numel(texts)
    name = pairs{2 * k - 1};
    value = pairs{2 * k};
    if ~ischar(name)
      error('stickslip:usage', 'option %d: expected a name', k);
    end
    if islogical(value) && isscalar(value)
      words = {'false', 'true'};
      value = words{value + 1};
    elseif isnumeric(value) && isscalar(value)
      value = sprintf('%.17g', value);
    elseif ~ischar(value)
      error('stickslip:usage', 'option %s: expected a number, true, false or a text', name);
    end
    texts{k} = [name '=' value];
  end
end
