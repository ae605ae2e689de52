function text = ss_text(options)
% text = ss_text(options)   options of a formulation or solver as the library reads them: 'omega=1.3 sweep=symmetric'
%
% A text stays as it is; a struct, or a cell of names and values, becomes one.
  if isempty(options)
    text = '';
    return
  end
  if ischar(options)
    text = options;
    return
  end
  if iscell(options)
    pairs = options;
  elseif isstruct(options)
    names = fieldnames(options);
    pairs = cell(1, 2 * numel(names));
    pairs(1:2:end) = names;
    pairs(2:2:end) = struct2cell(options);
  else
    error('stickslip:usage', 'expected options as a struct, as cells of names and values, or as a text');
  end
  text = '';
  for i = 1:2:numel(pairs)
    value = pairs{i + 1};
    if islogical(value)
      words = {'false', 'true'};
      value = words{value + 1};
    elseif isnumeric(value)
      value = sprintf('%.17g', value);
    end
    text = sprintf('%s %s=%s', text, pairs{i}, value);
  end
  text = strtrim(text);
end
