"""As much of Avalanche's template as a strategy without gradients touches: its loops, without plugins."""


class SupervisedTemplate:
    def __init__(self, *, model, optimizer, criterion, train_epochs, train_mb_size=1, eval_mb_size=1, device="cpu"):
        self.model, self.optimizer, self._criterion, self.device = model, optimizer, criterion, device
        self.train_epochs, self.train_mb_size, self.eval_mb_size = train_epochs, train_mb_size, eval_mb_size

    def _unpack_minibatch(self):
        self.mb_x, self.mb_y = self.mbatch

    def train(self, experience):
        self.make_optimizer()
        for _ in range(self.train_epochs):
            self.dataloader = experience.batches(self.train_mb_size)
            self.training_epoch()

    def eval(self, experiences):
        """Accuracy and loss over all rows."""
        right, losses = [], []
        for experience in experiences:
            for self.mbatch in experience.batches(self.eval_mb_size):
                self._unpack_minibatch()
                self.mb_output = self.forward()
                losses.append(self._criterion(self.mb_output, self.mb_y))
                right.extend(self.mb_output.argmax(1).array == self.mb_y.array)
        return sum(right) / len(right), sum(losses) / len(losses)
