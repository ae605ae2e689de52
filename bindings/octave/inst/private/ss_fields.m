function s = ss_fields(pairs)
% ss_fields  Names and values, {'mass', 2}, as a struct; one struct is passed on as it is.
  if numel(pairs) == 1 && isstruct(pairs{1})
    s = pairs{1};
    return
  end
  if mod(numel(pairs), 2) ~= 0
    error('stickslip:usage', 'properties come in pairs of a name and a value');
  end
  s = struct();
  for k = 1:2:numel(pairs)
    s.(pairs{k}) = pairs{k + 1};
  end
end
