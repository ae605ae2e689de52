function subject = ss_subject(subject)
% subject = ss_subject(subject)   what functions work on: a frame, a problem, or a cone problem
%
% Adds one form to these: the groups of an FCLIB file as load shows them, which become a cone problem.
  if ~isstruct(subject) || numel(subject) ~= 1
    error('stickslip:usage', 'expected a frame, a problem or a cone problem, all of which are structs');
  end
  kinds = {'fclib_global', 'fclib_local', 'fclib_global_rolling'};
  found = kinds(isfield(subject, kinds));
  if isempty(found)
    return
  end
  if numel(found) > 1
    error('stickslip:usage', 'the file holds %d problems: pass one of them, rmfield(p, ''%s'')', numel(found), found{2});
  end
  all = subject;
  group = all.(found{1});
  subject = struct('form', 'global', 'dimension', double(group.spacedim(1)), 'mu', double(group.vectors.mu(:)));
  if strcmp(found{1}, 'fclib_local')
    subject.form = 'local';
  end
  if isfield(group.vectors, 'mu_r')
    subject.mu_rolling = double(group.vectors.mu_r(:));
  end
  matrices = {'W', 'V', 'R', 'M', 'H', 'G'};
  for i = 1:numel(matrices)
    if isfield(group, matrices{i})
      subject.(matrices{i}) = matrix(group.(matrices{i}));
    end
  end
  vectors = {'q', 's', 'f', 'w', 'b'};
  for i = 1:numel(vectors)
    if isfield(group.vectors, vectors{i})
      values = group.vectors.(vectors{i});
      subject.(vectors{i}) = double(values(:));
    end
  end
  if isfield(all, 'solution')
    subject.solution = all.solution;
  end
end

% A matrix group: triplets (nz >= 0), compressed columns (-1) or rows (-2), indices from 0.
function A = matrix(group)
  m = double(group.m(1));
  n = double(group.n(1));
  nz = double(group.nz(1));
  p = double(group.p(:));
  i = double(group.i(:));
  x = double(group.x(:));
  if nz >= 0
    A = sparse(i(1:nz) + 1, p(1:nz) + 1, x(1:nz), m, n);
    return
  end
  count = p(end);
  owner = zeros(count, 1);
  for k = 1:numel(p) - 1
    owner(p(k) + 1:p(k + 1)) = k;
  end
  if nz == -1
    A = sparse(i(1:count) + 1, owner, x(1:count), m, n);
  else
    A = sparse(owner, i(1:count) + 1, x(1:count), m, n);
  end
end
