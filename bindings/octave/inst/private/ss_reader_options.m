function options = ss_reader_options(args)
% options = ss_reader_options(varargin)   options of the reader, as a struct or as names and values
  options = struct();
  if numel(args) == 1 && isstruct(args{1})
    options = args{1};
  elseif mod(numel(args), 2) == 0
    for i = 1:2:numel(args)
      options.(args{i}) = args{i + 1};
    end
  else
    error('stickslip:usage', 'expected options as a struct, or as names and values');
  end
end
