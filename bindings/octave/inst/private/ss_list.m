function list = ss_list(kind, name)
% ss_list  what the library has of a kind ('solvers', ...): all, the one of a name, or, where no output is wanted, a table
% of names and summaries.
  all = stickslip_mex(kind);
  if nargin > 1
    list = all(strcmp({all.name}, name));
    if isempty(list)
      error('stickslip:usage', 'ss_%s: unknown name ''%s''', kind, name);
    end
  elseif nargout > 0
    list = all;
  else
    for i = 1:numel(all)
      fprintf('%-22s %s\n', all(i).name, all(i).summary);
    end
  end
end
